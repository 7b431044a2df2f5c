import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { Connected } from '../../client';
import type { Answers } from '../../testing/connection';
import { planned, proposal, refused, show } from '../__testUtils__/show';
import { ProposeButton } from './ProposeDialog';
import { RollbackButton } from './RollbackDialog';

const environment = { name: 'staging', protected: false };
const service = 'component:default/checkout';

const answered = (p: object) => ({ data: { proposal: p } });

function open(
  answers: Answers,
  element = <ProposeButton {...{ service, environment }} />,
) {
  return show(<Connected>{element}</Connected>, answers);
}

/** Writes into a field, at once and not letter by letter. */
function fill(
  label: string | RegExp,
  value: string,
  where = within(document.body),
) {
  const field = where.getByLabelText(label, {
    selector: 'textarea, input:not([type=radio])',
  });
  fireEvent.change(field, { target: { value } });
  fireEvent.blur(field);
}

/** Says what to change, up to its plan. */
async function look(user: ReturnType<typeof userEvent.setup>) {
  await user.click(
    await screen.findByRole('button', { name: 'Propose change to staging' }),
  );
  fill(/^Tag/, '1.5.0');
  fill(/^Reason/, 'the fix');
  fill(/^Evidence/, 'tests: https://ci.shop.test/7\n\na scan');
  await user.click(screen.getByText('Show the plan'));
}

describe('proposing a change', () => {
  it('shows the plan first, and proposes just that, once', async () => {
    let made = 0;
    const connection = open({
      ProposeChange: v => {
        if (v.dryRun) return answered(planned);
        made++;
        return answered(proposal());
      },
    });
    const user = userEvent.setup();
    await look(user);
    expect(
      await screen.findByRole('heading', { name: planned.title }),
    ).toHaveFocus();
    expect(screen.getByText(/newTag: "1.5.0"/)).toBeInTheDocument();
    await user.dblClick(screen.getByRole('button', { name: 'Propose' }));
    expect(await screen.findByText('Its pull request is open.')).toBeVisible();
    expect(screen.getByRole('link', { name: /Pull request/ })).toHaveAttribute(
      'href',
      'https://git.shop.test/shop/deploy/pulls/7',
    );
    expect(made).toBe(1);
    const asked = {
      service,
      environment: 'staging',
      change: { image: { tag: '1.5.0' } },
      reason: 'the fix',
      evidence: ['tests: https://ci.shop.test/7', 'a scan'],
    };
    expect(connection.asked.map(a => a.variables)).toEqual([
      { ...asked, dryRun: true },
      { ...asked, planHash: planned.plan.hash },
    ]);
    await user.click(screen.getByRole('button', { name: 'Done' }));
    expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
  });

  it('says what is missing, field by field, and asks for nothing', async () => {
    const connection = open({});
    const user = userEvent.setup();
    await user.click(await screen.findByRole('button'));
    await user.click(screen.getByRole('button', { name: 'Show the plan' }));
    expect(screen.getByText('Give a tag or a digest.')).toBeVisible();
    expect(screen.getByText('Say why, for who reviews it.')).toBeVisible();
    fill(/^Digest/, 'sha');
    expect(screen.getByText(/64 hexadecimal digits/)).toBeVisible();
    expect(connection.asked).toEqual([]);
    await user.keyboard('{Escape}');
    await waitFor(() =>
      expect(screen.queryByRole('dialog')).not.toBeInTheDocument(),
    );
  });

  it('takes replicas, and values by their paths', async () => {
    const connection = open({ ProposeChange: () => answered(planned) });
    const user = userEvent.setup();
    await user.click(await screen.findByRole('button'));
    fill(/^Reason/, 'load');
    await user.click(screen.getByRole('radio', { name: 'Replicas' }));
    fill(/^Replicas/, '4');
    await user.click(screen.getByRole('button', { name: 'Show the plan' }));
    await user.click(await screen.findByRole('button', { name: 'Back' }));
    await user.click(screen.getByRole('radio', { name: 'Values by path' }));
    await user.click(screen.getByRole('button', { name: 'Another value' }));
    const [one, two] = screen.getAllByRole('group', { name: /^Value \d/ });
    fill('Path', 'a.b', within(one));
    fill('Value', 'true', within(one));
    fill('Path', 'c', within(two));
    fill('Value', '"7"', within(two));
    await user.click(screen.getByRole('button', { name: 'Show the plan' }));
    await screen.findByRole('button', { name: 'Back' });
    expect(connection.asked.map(a => a.variables.change)).toEqual([
      { replicas: 4 },
      {
        set: [
          { path: 'a.b', value: true },
          { path: 'c', value: '7' },
        ],
      },
    ]);
  });

  it('tells what policy says, and what is refused, with the fix', async () => {
    open({
      ProposeChange: v =>
        v.dryRun
          ? answered({
              ...planned,
              notes: ['policy would refuse it: no digest.'],
            })
          : refused('forbidden', 'policy refuses it', 'Give a digest.'),
    });
    const user = userEvent.setup();
    await look(user);
    expect(await screen.findByText(/policy would refuse it/)).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Propose' }));
    expect(await screen.findByRole('alert')).toHaveTextContent(
      /policy refuses it.*Give a digest/,
    );
    expect(screen.getByText(/newTag: "1.5.0"/)).toBeInTheDocument();
  });

  it('leads to the request where approval is needed, and follows it', async () => {
    let state = 'pending';
    const connection = open({
      ProposeChange: v =>
        v.dryRun
          ? answered(planned)
          : refused('approval_required', 'it needs approval', 'Ask Sam.', {
              approval: '42',
            }),
      ApprovalState: () => ({
        data: {
          approval: {
            __typename: 'Approval',
            id: '42',
            state,
            approvers: ['role:sre'],
            decidedBy: state === 'granted' ? 'user:default/sam' : null,
            reason: null,
            expiresAt: null,
          },
        },
      }),
    });
    const user = userEvent.setup();
    await look(user);
    await user.click(await screen.findByRole('button', { name: 'Propose' }));
    expect(await screen.findByText('pending')).toBeVisible();
    expect(screen.getByRole('link', { name: 'Request 42' })).toHaveAttribute(
      'href',
      '/fairlead/approvals?id=42',
    );
    await waitFor(() => expect(connection.isLive()).toBe(true));
    state = 'granted';
    connection.tell('ApprovalChanges', {
      approvalChanged: { id: '42', state },
    });
    expect(await screen.findByText(/Propose it now/)).toBeVisible();
    expect(screen.getByRole('button', { name: 'Propose' })).toBeEnabled();
  });

  it('shows the plan anew where another has come of it', async () => {
    let plans = 0;
    open({
      ProposeChange: v => {
        if (v.dryRun) {
          plans++;
          return answered({ ...planned, title: `plan ${plans}` });
        }
        return refused('conflict', 'the plan is another', 'Look again.', {
          planHash: 'sha256:2',
        });
      },
    });
    const user = userEvent.setup();
    await look(user);
    await user.click(await screen.findByRole('button', { name: 'Propose' }));
    await user.click(
      await screen.findByRole('button', { name: 'Show the plan anew' }),
    );
    expect(
      await screen.findByRole('heading', { name: 'plan 2' }),
    ).toBeVisible();
    expect(screen.getByRole('button', { name: 'Propose' })).toBeEnabled();
  });

  it('lets one propose again what people have closed', async () => {
    const connection = open({
      ProposeChange: v => {
        if (v.dryRun) return answered(planned);
        if (v.key) return answered(proposal());
        return refused('failed_precondition', 'it was closed', 'Read why.', {
          proposal: 'p0',
          undone: 'closed',
        });
      },
    });
    const user = userEvent.setup();
    await look(user);
    await user.click(await screen.findByRole('button', { name: 'Propose' }));
    await user.click(
      await screen.findByRole('button', { name: 'Propose it all the same' }),
    );
    expect(await screen.findByText('Its pull request is open.')).toBeVisible();
    expect(connection.asked.pop()?.variables.key).toMatch(/^[0-9a-f]{24}$/);
  });

  it('says where there is nothing to propose', async () => {
    open({
      ProposeChange: () => answered({ ...planned, state: 'unchanged' }),
    });
    const user = userEvent.setup();
    await look(user);
    expect(await screen.findByText(/It is so already/)).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Propose' })).toBeNull();
  });
});

describe('rolling back', () => {
  const button = <RollbackButton {...{ service, environment }} />;

  it('shows the plan first, and proposes just that', async () => {
    const connection = open(
      {
        ProposeRollback: v =>
          answered(v.dryRun ? planned : proposal({}, { kind: 'rollback' })),
      },
      button,
    );
    const user = userEvent.setup();
    await user.click(
      await screen.findByRole('button', { name: 'Roll back staging' }),
    );
    await user.click(screen.getByRole('button', { name: 'Show the plan' }));
    expect(screen.getByText('Say why, for who reviews it.')).toBeVisible();
    fill(/^Reason/, 'fails');
    await user.click(screen.getByRole('button', { name: 'Show the plan' }));
    await user.click(await screen.findByRole('button', { name: 'Propose' }));
    expect(await screen.findByText('Its pull request is open.')).toBeVisible();
    expect(connection.asked[1].variables).toEqual({
      service,
      environment: 'staging',
      reason: 'fails',
      evidence: [],
      planHash: planned.plan.hash,
    });
  });

  it('says why it cannot be', async () => {
    open(
      {
        ProposeRollback: () =>
          refused('failed_precondition', 'nothing to go back to', 'Do else.'),
      },
      button,
    );
    const user = userEvent.setup();
    await user.click(await screen.findByRole('button'));
    fill(/^Reason/, 'fails');
    await user.click(screen.getByRole('button', { name: 'Show the plan' }));
    expect(await screen.findByRole('alert')).toHaveTextContent(
      /nothing to go back to.*Do else/,
    );
  });
});
