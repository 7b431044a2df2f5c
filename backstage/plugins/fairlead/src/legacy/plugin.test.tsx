import { renderInTestApp, TestApiProvider } from '@backstage/test-utils';
import { screen } from '@testing-library/react';
import { fairleadApiRef } from '../client';
import { connectTo } from '../testing/connection';
import { FairleadPage, fairleadPlugin } from './plugin';

describe('legacy', () => {
  it('has the tabs of the page for everything', async () => {
    await renderInTestApp(
      <TestApiProvider apis={[[fairleadApiRef, connectTo({})]]}>
        <FairleadPage />
      </TestApiProvider>,
      { mountedRoutes: { '/fairlead': fairleadPlugin.routes.root } },
    );
    for (const name of ['Approvals', 'Previews', 'Changes']) {
      expect(await screen.findByRole('tab', { name })).toBeInTheDocument();
    }
    expect([...fairleadPlugin.getApis()]).toHaveLength(1);
  });
});
