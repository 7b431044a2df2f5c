import type { Changes } from '../client';
import { IngestionChangesDocument } from './health.generated';

/** What tells that sources or their problems have changed. */
export const changes: Changes[] = [{ query: IngestionChangesDocument }];

/** Milliseconds until all is asked for again where nothing tells of it. */
export const every = 10_000;
