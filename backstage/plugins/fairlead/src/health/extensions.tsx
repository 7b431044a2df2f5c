import { SubPageBlueprint } from '@backstage/frontend-plugin-api';
import { EntityCardBlueprint } from '@backstage/plugin-catalog-react/alpha';

const page = SubPageBlueprint.make({
  name: 'health',
  attachTo: { id: 'page:fairlead', input: 'pages' },
  params: {
    path: 'health',
    title: 'Catalog health',
    loader: () => import('./HealthPage').then(m => <m.HealthPage />),
  },
});

const warning = EntityCardBlueprint.make({
  name: 'warning',
  params: {
    type: 'content',
    loader: () => import('./EntityWarning').then(m => <m.EntityWarning />),
  },
});

export const healthExtensions = [page, warning];
