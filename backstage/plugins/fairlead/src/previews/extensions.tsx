import { SubPageBlueprint } from '@backstage/frontend-plugin-api';

const page = SubPageBlueprint.make({
  name: 'previews',
  attachTo: { id: 'page:fairlead', input: 'pages' },
  params: {
    path: 'previews',
    title: 'Previews',
    loader: () => import('./PreviewsPage').then(m => <m.PreviewsPage />),
  },
});

export const previewExtensions = [page];
