import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { Answers } from '../testing/connection';
import {
  openPage,
  openTab,
  page,
  previewOf,
  refused,
  revisions,
} from './__testUtils__/open';

const none = { Previews: () => page([]) };

async function begin(answers: Answers, open = openTab) {
  const connection = open(answers);
  await userEvent.click(
    await screen.findByRole('button', { name: 'New preview' }),
  );
  const dialog = within(await screen.findByRole('dialog'));
  const create = dialog.getByRole('button', { name: 'Create' });
  const sent = () =>
    connection.asked
      .filter(a => a.name === 'CreatePreview')
      .map(a => a.variables);
  return { connection, dialog, create, sent };
}

describe('Creating a preview', () => {
  it('shows it at once', async () => {
    let items: object[] = [];
    const { dialog, create, sent } = await begin({
      Previews: () => page(items),
      CreatePreview: () => {
        items = [previewOf({ phase: 'pending' })];
        return { data: { createPreviewEnvironment: items[0] } };
      },
    });
    await userEvent.click(dialog.getByRole('radio', { name: '2 hours' }));
    await userEvent.dblClick(create);
    expect(await screen.findByText('pending')).toBeInTheDocument();
    expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
    expect(sent()).toEqual([
      {
        service: 'component:default/checkout',
        ttl: '2h',
        key: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
    ]);
  });

  const accepted = () => ({
    data: { createPreviewEnvironment: previewOf() },
  });

  it('is of a revision that is chosen from those that are there', async () => {
    const commit = '81f35469d5b6dc1704c438f7a35d04972550ab2d';
    const { connection, dialog, create, sent } = await begin({
      ...none,
      Revisions: ({ query }) =>
        query === '81f'
          ? revisions([], [commit])
          : revisions(['main', 'fix', 'long-'.repeat(30)]),
      CreatePreview: accepted,
    });
    const field = dialog.getByRole('combobox', { name: /^Revision/ });
    await userEvent.click(field);
    expect(
      await screen.findByRole('option', { name: /^fix/ }),
    ).toHaveTextContent('Title of fix · Bob');
    expect(screen.getByRole('option', { name: /^long/ })).toHaveTextContent(
      /Title of long-[-long]{1,50}… · Bob$/,
    );
    await userEvent.type(field, '81f');
    await userEvent.click(
      await screen.findByRole('option', { name: /^81f3546/ }),
    );
    expect(field).toHaveValue('81f3546');
    await userEvent.click(create);
    await waitFor(() => expect(sent()).toHaveLength(1));
    expect(sent()[0]).toMatchObject({ revision: commit });
    expect(connection.asked).toContainEqual({
      name: 'Revisions',
      variables: {
        service: 'component:default/checkout',
        query: '81f',
        first: 10,
      },
    });
  });

  it('is of a revision that is typed, where none can be listed', async () => {
    const { dialog, create, sent } = await begin({
      ...none,
      Revisions: () => refused('unavailable', 'the forge is down', 'Wait.'),
      CreatePreview: accepted,
    });
    expect(await dialog.findByText('the forge is down')).toBeInTheDocument();
    await userEvent.type(dialog.getByRole('combobox'), ' feature/cart ');
    await userEvent.click(create);
    await waitFor(() => expect(sent()).toHaveLength(1));
    expect(sent()[0]).toMatchObject({ revision: 'feature/cart' });
  });

  it('says why it is refused, and asks again by the same key', async () => {
    const { dialog, create, sent } = await begin({
      ...none,
      CreatePreview: () =>
        refused('quota_exceeded', 'three are there', 'Delete one.'),
    });
    await userEvent.click(create);
    expect(await dialog.findByRole('alert')).toHaveTextContent(
      /three are there.*Delete one/,
    );
    await userEvent.click(create);
    await waitFor(() => expect(sent()).toHaveLength(2));
    await userEvent.click(dialog.getByRole('radio', { name: '30 minutes' }));
    await userEvent.click(create);
    await waitFor(() => expect(sent()).toHaveLength(3));
    const [first, second, other] = sent().map(v => v.key);
    expect(second).toBe(first);
    expect(other).not.toBe(first);
  });

  it('follows the request where somebody must agree', async () => {
    let state = 'pending';
    const approval = () => ({
      data: {
        approval: {
          __typename: 'Approval',
          id: 'r1',
          state,
          approvers: ['group:default/platform'],
          expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
          decidedBy: state === 'granted' ? 'user:default/sam' : null,
          reason: null,
        },
      },
    });
    const { connection, dialog, create } = await begin({
      ...none,
      ApprovalState: approval,
      CreatePreview: () =>
        state === 'granted'
          ? { data: { createPreviewEnvironment: previewOf() } }
          : refused('approval_required', 'it needs approval', 'Ask Sam.', {
              approval: 'r1',
            }),
    });
    await userEvent.click(create);
    expect(
      await dialog.findByRole('link', { name: 'Request r1' }),
    ).toHaveAttribute('href', '/fairlead/approvals?id=r1');
    expect(await dialog.findByText(/It is pending/)).toBeInTheDocument();
    await waitFor(() => expect(connection.isLive()).toBe(true));
    state = 'granted';
    connection.tell('ApprovalChanges', {
      approvalChanged: { id: 'r1', state },
    });
    expect(
      await dialog.findByText(/It is granted by user:default\/sam/),
    ).toHaveTextContent(/Do the same again/);
    await userEvent.click(create);
    await waitFor(() =>
      expect(screen.queryByRole('dialog')).not.toBeInTheDocument(),
    );
  });

  it('asks for the service where all are shown', async () => {
    const { dialog, create, sent } = await begin(
      {
        ...none,
        CreatePreview: accepted,
      },
      openPage,
    );
    expect(create).toBeDisabled();
    await userEvent.type(dialog.getByLabelText(/^Service/), 'orders');
    await userEvent.click(create);
    await waitFor(() => expect(sent()).toHaveLength(1));
    expect(sent()[0]).toMatchObject({ service: 'orders' });
  });
});
