import { useViewer } from '../client';
import type { PreviewRowFragment } from './previews.generated';

/** A preview as lists show it. */
export type Preview = PreviewRowFragment;

/** Which previews are meant; what is left out selects all. */
export interface Filter {
  service?: string;
  person?: string;
  agent?: string;
  phase?: string;
  gone?: boolean;
}

/** The beginning of a commit's id, as people write it. */
export const short = (commit: string) => commit.slice(0, 7);

/** Whether it is being removed, or is. */
export const ending = (p: Preview) =>
  p.phase === 'deleting' || p.phase === 'gone';

/** Whether its removal takes longer than it may, which its reason then says. */
export const stuck = (p: Preview) =>
  p.phase === 'deleting' && !!p.reason?.startsWith('stuck');

/** The name in an entity reference. */
export const nameOf = (ref: string) => ref.replace(/^.*[:/]/, '');

/** What a preview is called in words, such as "checkout at main". */
export const called = (p: { service: string; revision: string }) =>
  `${nameOf(p.service)} at ${
    /^[0-9a-f]{40}$/.test(p.revision) ? short(p.revision) : p.revision
  }`;

/** Whether the person who looks may do an action, on something at least. */
export function useMay(action: string): boolean {
  const viewer = useViewer();
  return !!viewer.data?.whoami?.actions.some(a => a.action === action);
}
