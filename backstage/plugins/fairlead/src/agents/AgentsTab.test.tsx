import { EntityProvider } from '@backstage/plugin-catalog-react';
import { screen, waitFor } from '@testing-library/react';
import { approval, approvals, open } from './__testUtils__';
import { serve } from './__testUtils__/agents';
import { AgentsTab } from './AgentsTab';

const entity = {
  apiVersion: 'backstage.io/v1alpha1',
  kind: 'Component',
  metadata: { name: 'checkout', namespace: 'default' },
};

describe('AgentsTab', () => {
  it('shows what agents did to a service, hold of it and wait for', async () => {
    const connection = open(
      <EntityProvider entity={entity}>
        <AgentsTab />
      </EntityProvider>,
      serve({ Approvals: () => approvals([approval({ mayDecide: false })]) }),
    );
    expect(
      await screen.findByRole('link', { name: approval().summary }),
    ).toBeVisible();
    expect(await screen.findByText('db-readonly')).toBeVisible();
    expect(await screen.findByText('fix-orders')).toBeVisible();
    expect(await screen.findByText('propose_change')).toBeVisible();
    expect(screen.queryByRole('textbox', { name: 'On' })).toBeNull();
    const ref = 'component:default/checkout';
    await waitFor(() => {
      for (const [name, variables] of [
        ['Acts', { agent: '*', target: ref, first: 50 }],
        ['HeldLeases', { service: ref }],
        ['HeldPreviews', { service: ref }],
        ['Approvals', { target: ref, state: 'pending', first: 500 }],
      ]) {
        expect(connection.asked).toContainEqual({ name, variables });
      }
    });
  });
});
