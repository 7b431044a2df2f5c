import { useAddress } from '../parts';

/** Which problems are listed: of whom, of which source and kind. */
export interface Choice {
  /** mine, all, or the reference of an owner. */
  owner: string;
  /** The name of a source; empty for all. */
  source: string;
  /** error, warning or conflict; empty for all. */
  kind: string;
}

/** What the address of the page tells to list; by default what is mine. */
export function useChoice(): [Choice, (change: Partial<Choice>) => void] {
  const [params, change] = useAddress();
  return [
    {
      owner: params.get('owner') || 'mine',
      source: params.get('source') ?? '',
      kind: params.get('kind') ?? '',
    },
    change,
  ];
}
