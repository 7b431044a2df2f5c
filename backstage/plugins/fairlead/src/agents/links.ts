import { useRouteRef } from '@backstage/frontend-plugin-api';
import { rootRouteRef } from '../routes';

/** Gives the address of a request's page by its id, or that of all of them. */
export function useApprovalHref() {
  const root = useRouteRef(rootRouteRef)?.() ?? '/fairlead';
  return (id?: string) =>
    `${root}/approvals${id ? `?id=${encodeURIComponent(id)}` : ''}`;
}

/** Gives the address of an agent's page by its name. */
export function useAgentHref() {
  const root = useRouteRef(rootRouteRef)?.() ?? '/fairlead';
  return (agent: string) => `${root}/agents?agent=${encodeURIComponent(agent)}`;
}

/** Gives the address of a preview's details by its id. */
export function usePreviewHref() {
  const root = useRouteRef(rootRouteRef)?.() ?? '/fairlead';
  return (id: string) => `${root}/previews?preview=${encodeURIComponent(id)}`;
}

/** Gives the address of a proposal's details by its id. */
export function useProposalHref() {
  const root = useRouteRef(rootRouteRef)?.() ?? '/fairlead';
  return (id: string) => `${root}/changes?proposal=${encodeURIComponent(id)}`;
}
