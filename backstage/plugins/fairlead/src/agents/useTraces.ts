import type { LiveQuery } from '../client';
import { useLiveQuery } from '../client';
import { ProposalChangesDocument } from '../deployments/proposals/proposals.generated';
import { PreviewChangesDocument } from '../previews/previews.generated';
import {
  HeldLeasesDocument,
  HeldPreviewsDocument,
  LeasesChangeDocument,
  OpenProposalsDocument,
} from './agents.generated';
import { ApprovalsDocument } from './approvals.generated';
import { approvalChanges } from './requests';

/** Whose traces are asked for. */
export interface Whose {
  service?: string;
  agent?: string;
}

/** The server has no such thing, for it is not set up there. */
export const isAbsent = (query: LiveQuery<unknown>) =>
  query.fault?.code === 'failed_precondition';

/** Credentials on loan, as they come and go. */
export const useLeases = (whose: Whose) =>
  useLiveQuery({
    query: HeldLeasesDocument,
    variables: { ...whose },
    changes: [{ query: LeasesChangeDocument, variables: { ...whose } }],
  });

/** Previews that are there. */
export const useHeldPreviews = (whose: Whose) =>
  useLiveQuery({
    query: HeldPreviewsDocument,
    variables: { ...whose },
    changes: [
      {
        query: PreviewChangesDocument,
        variables: { service: whose.service },
      },
    ],
  });

/** Requests for approval that are pending. */
export const usePending = (whose: { agent?: string; target?: string }) =>
  useLiveQuery({
    query: ApprovalsDocument,
    variables: { ...whose, state: 'pending', first: 500 },
    changes: approvalChanges,
  });

/** Proposals, newest first. */
export const useProposals = (whose: { agent?: string }) =>
  useLiveQuery({
    query: OpenProposalsDocument,
    variables: { ...whose },
    changes: [{ query: ProposalChangesDocument }],
  });

/** Whether a proposal still waits for something. */
export const isOpen = (proposal: { state: string }) =>
  proposal.state !== 'merged' && proposal.state !== 'closed';
