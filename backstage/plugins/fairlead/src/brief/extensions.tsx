import { EntityCardBlueprint } from '@backstage/plugin-catalog-react/alpha';

const card = EntityCardBlueprint.make({
  name: 'brief',
  params: {
    filter: { kind: 'component' },
    type: 'content',
    loader: () => import('./BriefCard').then(m => <m.BriefCard />),
  },
});

export const briefExtensions = [card];
