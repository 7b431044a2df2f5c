import { useLiveQuery } from '../client';
import {
  ApprovalChangesDocument,
  ApprovalStateDocument,
} from './approvals.generated';

/** What tells that requests for approval were made or decided on. */
export const approvalChanges = [{ query: ApprovalChangesDocument }];

/** How far a request has come, as people decide on it; undefined before that is known. */
export const useRequest = (id: string) =>
  useLiveQuery({
    query: ApprovalStateDocument,
    variables: { id },
    changes: approvalChanges,
  }).data?.approval;
