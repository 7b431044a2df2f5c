import {
  Header,
  Page,
  Progress,
  TabbedLayout,
} from '@backstage/core-components';
import { lazy, Suspense } from 'react';

const Previews = lazy(() =>
  import('../previews/PreviewsPage').then(m => ({ default: m.PreviewsPage })),
);
const Changes = lazy(() =>
  import('../deployments/changes').then(m => ({ default: m.ChangesPage })),
);
const Approvals = lazy(() =>
  import('../agents/ApprovalsPage').then(m => ({ default: m.ApprovalsPage })),
);
const Agents = lazy(() =>
  import('../agents/AgentsPage').then(m => ({ default: m.AgentsPage })),
);
const Health = lazy(() =>
  import('../health/HealthPage').then(m => ({ default: m.HealthPage })),
);

const wait = <Progress />;

/** The pages for everything at once, with the paths that the new system gives them. */
export const FairleadPage = () => (
  <Page themeId="tool">
    <Header title="Fairlead" />
    <TabbedLayout>
      <TabbedLayout.Route path="/approvals" title="Approvals">
        <Suspense fallback={wait}>
          <Approvals />
        </Suspense>
      </TabbedLayout.Route>
      <TabbedLayout.Route path="/agents" title="Agents">
        <Suspense fallback={wait}>
          <Agents />
        </Suspense>
      </TabbedLayout.Route>
      <TabbedLayout.Route path="/previews" title="Previews">
        <Suspense fallback={wait}>
          <Previews />
        </Suspense>
      </TabbedLayout.Route>
      <TabbedLayout.Route path="/changes" title="Changes">
        <Suspense fallback={wait}>
          <Changes />
        </Suspense>
      </TabbedLayout.Route>
      <TabbedLayout.Route path="/health" title="Catalog health">
        <Suspense fallback={wait}>
          <Health />
        </Suspense>
      </TabbedLayout.Route>
    </TabbedLayout>
  </Page>
);
