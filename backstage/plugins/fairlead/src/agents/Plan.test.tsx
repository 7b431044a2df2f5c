import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { Plan } from './Plan';

const diff = '--- a.yaml\n+++ a.yaml\n@@ -1 +1 @@\n-x: 1\n+x: 2\n';

describe('Plan', () => {
  it('shows fields by their names, first why, then the diff', () => {
    render(
      <Plan
        of={{
          diff,
          rendered: {
            tool: 'kustomize',
            patch: diff,
            changed: ['Deployment/x'],
          },
          maxFailures: 0,
          dryRun: false,
          touched: [{ file: 'a.yaml', from: '1', to: '2' }],
          note: 'one\ntwo',
          nothing: null,
          none: [],
          reason: 'faster',
        }}
      />,
    );
    const names = screen.getAllByRole('term').map(term => term.textContent);
    expect(names.filter(n => !['File', 'From', 'To'].includes(n!))).toEqual([
      'Reason',
      'Diff',
      'Max failures',
      'Dry run',
      'Note',
      'Rendered',
      'Patch',
      'Tool',
      'Changed',
      'Touched',
    ]);
    expect(screen.getByText('0')).toBeVisible();
    expect(screen.getByText('false')).toBeVisible();
    expect(screen.getByText('kustomize')).toBeVisible();
    expect(screen.getAllByRole('region', { name: 'a.yaml' })).toHaveLength(2);
  });

  it.each([
    ['lists', (all: string[]): unknown => ({ services: all })],
    ['objects', (all: string[]) => Object.fromEntries(all.map(s => [s, s]))],
  ])('shows long %s as far as one asks', async (_, planOf) => {
    const services = Array.from({ length: 60 }, (__, n) => `service-${n}`);
    render(<Plan of={planOf(services)} />);
    expect(screen.queryByText('service-50')).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Show 10 more' }));
    expect(screen.getByText('service-59')).toBeVisible();
  });

  it.each([
    [undefined, 'none'],
    [[], 'none'],
    ['a text', 'a text'],
    [7, '7'],
  ])('shows what is no object: %j', (plan, text) => {
    render(<Plan of={plan} />);
    expect(screen.getByText(text)).toBeVisible();
  });

  it('shows what is nested without end', () => {
    let plan: unknown = 'bottom';
    for (let n = 0; n < 20_000; n++) plan = [plan];
    render(<Plan of={plan} />);
    expect(screen.getByText(/nested too deeply/)).toBeVisible();
  });
});
