import {
  PluginHeaderActionBlueprint,
  SubPageBlueprint,
} from '@backstage/frontend-plugin-api';

const page = { id: 'page:fairlead', input: 'pages' };

const approvals = SubPageBlueprint.make({
  name: 'approvals',
  attachTo: page,
  params: {
    path: 'approvals',
    title: 'Approvals',
    loader: () => import('./ApprovalsPage').then(m => <m.ApprovalsPage />),
  },
});

const waiting = PluginHeaderActionBlueprint.make({
  name: 'waiting',
  params: {
    loader: () => import('./WaitingCount').then(m => <m.WaitingCount />),
  },
});

export const agentExtensions = [approvals, waiting];
