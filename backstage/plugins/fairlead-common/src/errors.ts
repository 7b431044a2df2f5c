import type { CombinedError } from '@urql/core';

/** What Fairlead says when it cannot do what it was asked for. */
export interface Fault {
  /**
   * invalid, unauthenticated, forbidden, not_found, conflict,
   * approval_required, quota_exceeded, failed_precondition, unavailable or
   * internal.
   */
  code: string;
  /** Names the step and the value at fault. */
  message: string;
  /** How to put it right. */
  fix?: string;
  /** More of it, such as retryAfter or approval. */
  details?: Record<string, unknown>;
}

/** Tells what went wrong with a request, in Fairlead's words where it has any. */
export function faultOf(error: CombinedError): Fault {
  const first = error.graphQLErrors[0];
  if (first) {
    const { code, fix, details } = first.extensions ?? {};
    return {
      code: typeof code === 'string' ? code : 'internal',
      message: first.message,
      ...(typeof fix === 'string' && { fix }),
      ...(typeof details === 'object' &&
        details && { details: details as Record<string, unknown> }),
    };
  }
  const status = error.response?.status;
  if (status === 401) {
    return {
      code: 'unauthenticated',
      message: 'Fairlead does not know who you are.',
      fix: 'Sign in again.',
    };
  }
  return {
    code: 'unavailable',
    message: status
      ? `Fairlead answered with status ${status}.`
      : 'Fairlead cannot be reached.',
    fix: 'Try again in a moment.',
  };
}
