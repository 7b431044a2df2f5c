import { SubPageBlueprint } from '@backstage/frontend-plugin-api';
import { EntityContentBlueprint } from '@backstage/plugin-catalog-react/alpha';

const page = SubPageBlueprint.make({
  name: 'previews',
  attachTo: { id: 'page:fairlead', input: 'pages' },
  params: {
    path: 'previews',
    title: 'Previews',
    loader: () =>
      import('./PreviewsPage').then(m => (
        <main>
          <m.PreviewsPage />
        </main>
      )),
  },
});

const tab = EntityContentBlueprint.make({
  name: 'previews',
  params: {
    path: '/previews',
    title: 'Previews',
    filter: { kind: 'component' },
    loader: () => import('./PreviewsTab').then(m => <m.PreviewsTab />),
  },
});

export const previewExtensions = [page, tab];
