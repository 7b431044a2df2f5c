import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import {
  openTab,
  page,
  previewOf,
  refused,
  rights,
} from './__testUtils__/open';

const list = { Previews: () => page([previewOf()]) };

/** Begins an act by the menu of the preview, with the keyboard alone. */
async function begin(name: string) {
  const user = userEvent.setup();
  const menu = await screen.findByRole('button', { name: /^Acts on/ });
  const row = menu.closest('[role=row]')!;
  const press = async (key: string, until: () => boolean) => {
    for (let i = 0; i < 20 && !until(); i++) await user.keyboard(key);
    expect(until()).toBe(true);
  };
  await press('{Tab}', () => row.contains(document.activeElement));
  await press('{ArrowRight}', () => document.activeElement === menu);
  await user.keyboard('{Enter}');
  const item = await screen.findByRole('menuitem', { name });
  await press('{ArrowDown}', () => document.activeElement === item);
  await user.keyboard('{Enter}');
  return within(await screen.findByRole('dialog'));
}

const done = () =>
  waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());

describe('Acts on previews', () => {
  it('extends by a choice', async () => {
    let more = 0;
    const connection = openTab({
      Previews: () =>
        page([
          previewOf({
            expiresAt: new Date(Date.now() + 600_000 + more).toISOString(),
          }),
        ]),
      ExtendPreview: () => {
        more = 3_600_000;
        return { data: { extendPreviewEnvironment: previewOf() } };
      },
    });
    const dialog = await begin('Extend…');
    expect(dialog.getByRole('status')).toHaveTextContent(
      /It ends .*, and then/,
    );
    await userEvent.click(dialog.getByRole('radio', { name: '1 hour' }));
    await userEvent.click(dialog.getByRole('button', { name: 'Extend' }));
    await done();
    expect(connection.asked).toContainEqual({
      name: 'ExtendPreview',
      variables: { id: 'checkout-1', ttl: '1h' },
    });
    await waitFor(() =>
      expect(screen.getByRole('timer')).toHaveTextContent(/^1:0\d:\d\d$/),
    );
  });

  it('extends by another time, and says why that is refused', async () => {
    const connection = openTab({
      ...list,
      ExtendPreview: () =>
        refused(
          'failed_precondition',
          'it may live until noon',
          'Extend it by less.',
        ),
    });
    const dialog = await begin('Extend…');
    await userEvent.click(dialog.getByRole('radio', { name: 'Other' }));
    expect(dialog.getByRole('button', { name: 'Extend' })).toBeDisabled();
    await userEvent.type(dialog.getByLabelText(/^Time/), '45m{Enter}');
    expect(await dialog.findByRole('alert')).toHaveTextContent(
      /it may live until noon.*Extend it by less/,
    );
    expect(connection.asked).toContainEqual({
      name: 'ExtendPreview',
      variables: { id: 'checkout-1', ttl: '45m' },
    });
  });

  it('extends what ends soon from its row', async () => {
    openTab({ Previews: () => page([previewOf({ endsSoon: true })]) });
    await userEvent.click(
      await screen.findByRole('button', { name: 'Extend' }),
    );
    expect(
      await screen.findByRole('heading', { name: 'Extend checkout at main' }),
    ).toBeInTheDocument();
  });

  it('deletes once that is confirmed', async () => {
    let phase = 'ready';
    const connection = openTab({
      Previews: () => page([previewOf({ phase })]),
      DeletePreview: () => {
        phase = 'deleting';
        return { data: { deletePreviewEnvironment: previewOf({ phase }) } };
      },
    });
    let dialog = await begin('Delete…');
    await userEvent.click(dialog.getByRole('button', { name: 'Cancel' }));
    await done();
    expect(connection.asked.some(a => a.name === 'DeletePreview')).toBe(false);
    dialog = await begin('Delete…');
    await userEvent.click(dialog.getByRole('button', { name: 'Delete' }));
    await done();
    expect(await screen.findByText('deleting')).toBeInTheDocument();
  });

  it('says why it may not be deleted', async () => {
    openTab({
      ...list,
      DeletePreview: () =>
        refused('forbidden', 'it is not yours', 'Ask its owner.'),
    });
    const dialog = await begin('Delete…');
    await userEvent.click(dialog.getByRole('button', { name: 'Delete' }));
    expect(await dialog.findByRole('alert')).toHaveTextContent(
      /it is not yours.*Ask its owner/,
    );
  });

  const left = () =>
    page([
      previewOf({
        phase: 'deleting',
        reason: 'stuck: since noon; pod a',
        remains: ['pod a'],
      }),
    ]);

  it('removes by force with a reason, for those who may', async () => {
    const connection = openTab({
      Previews: left,
      Viewer: () => rights('previews.force'),
      ForceRemovePreview: () => ({
        data: {
          forceRemovePreviewEnvironment: previewOf({ phase: 'deleting' }),
        },
      }),
    });
    await waitFor(() =>
      expect(connection.asked.some(a => a.name === 'Viewer')).toBe(true),
    );
    const dialog = await begin('Remove by force…');
    expect(dialog.getByText('Still there: pod a.')).toBeInTheDocument();
    const force = dialog.getByRole('button', { name: 'Remove by force' });
    expect(force).toBeDisabled();
    await userEvent.type(dialog.getByLabelText(/^Why/), 'its node is gone');
    await userEvent.click(force);
    await done();
    expect(connection.asked).toContainEqual({
      name: 'ForceRemovePreview',
      variables: { id: 'checkout-1', why: 'its node is gone' },
    });
  });

  it('offers no force to those who may not', async () => {
    openTab({ Previews: left });
    await userEvent.click(
      await screen.findByRole('button', { name: /^Acts on/ }),
    );
    expect(screen.getAllByRole('menuitem')).toHaveLength(3);
  });
});
