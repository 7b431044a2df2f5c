import { useLiveQuery } from './useLiveQuery';
import { ViewerDocument } from './viewer.generated';

const every = 300_000; // milliseconds; what one may do changes seldom

/** Who looks at the page, and what they may do. */
export const useViewer = () =>
  useLiveQuery({ query: ViewerDocument, variables: {}, every });
