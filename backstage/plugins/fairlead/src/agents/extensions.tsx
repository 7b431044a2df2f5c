import {
  PluginHeaderActionBlueprint,
  SubPageBlueprint,
} from '@backstage/frontend-plugin-api';
import { EntityContentBlueprint } from '@backstage/plugin-catalog-react/alpha';

const pages = { id: 'page:fairlead', input: 'pages' };

const approvals = SubPageBlueprint.make({
  name: 'approvals',
  attachTo: pages,
  params: {
    path: 'approvals',
    title: 'Approvals',
    loader: () =>
      import('./ApprovalsPage').then(m => (
        <main>
          <m.ApprovalsPage />
        </main>
      )),
  },
});

const agents = SubPageBlueprint.make({
  name: 'agents',
  attachTo: pages,
  params: {
    path: 'agents',
    title: 'Agents',
    loader: () =>
      import('./AgentsPage').then(m => (
        <main>
          <m.AgentsPage />
        </main>
      )),
  },
});

const tab = EntityContentBlueprint.make({
  name: 'agents',
  params: {
    path: '/agents',
    title: 'Agents',
    filter: { kind: 'component' },
    loader: () => import('./AgentsTab').then(m => <m.AgentsTab />),
  },
});

const waiting = PluginHeaderActionBlueprint.make({
  name: 'waiting',
  params: {
    loader: () => import('./WaitingCount').then(m => <m.WaitingCount />),
  },
});

export const agentExtensions = [agents, approvals, tab, waiting];
