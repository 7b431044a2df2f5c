import { SubPageBlueprint } from '@backstage/frontend-plugin-api';
import { EntityContentBlueprint } from '@backstage/plugin-catalog-react/alpha';

const content = EntityContentBlueprint.make({
  name: 'deployments',
  params: {
    path: 'deployments',
    title: 'Deployments',
    filter: { kind: 'component' },
    loader: () => import('./Deployments').then(m => <m.Deployments />),
  },
});

const page = SubPageBlueprint.make({
  name: 'changes',
  attachTo: { id: 'page:fairlead', input: 'pages' },
  params: {
    path: 'changes',
    title: 'Changes',
    loader: () =>
      import('./changes').then(m => (
        <main>
          <m.ChangesPage />
        </main>
      )),
  },
});

export const deploymentExtensions = [content, page];
