import { compatWrapper } from '@backstage/core-compat-api';
import { renderInTestApp, TestApiProvider } from '@backstage/test-utils';
import { screen } from '@testing-library/react';
import { fairleadApiRef } from '../client';
import { connectTo } from '../testing/connection';
import { FairleadPage } from './FairleadPage';
import { fairleadPlugin } from './plugin';

describe('legacy', () => {
  it('has the tabs of the page for everything', async () => {
    await renderInTestApp(
      <TestApiProvider apis={[[fairleadApiRef, connectTo({})]]}>
        {compatWrapper(<FairleadPage />)}
      </TestApiProvider>,
      { mountedRoutes: { '/fairlead': fairleadPlugin.routes.root } },
    );
    const names = 'Approvals,Agents,Previews,Changes,Catalog health';
    for (const name of names.split(',')) {
      const tab = await screen.findByRole('tab', { name }, { timeout: 20_000 });
      expect(tab).toBeInTheDocument();
    }
    expect([...fairleadPlugin.getApis()]).toHaveLength(1);
  }, 30_000);
});
