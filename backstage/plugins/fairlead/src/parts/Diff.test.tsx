import { render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { Diff } from './Diff';

const version = `--- deploy/prod/values.yaml
+++ deploy/prod/values.yaml
@@ -3,4 +3,4 @@ image:
 image:
   name: checkout
-  tag: 1.4.0
+  tag: 1.5.0
 replicas: 2
`;

const cells = (row: HTMLElement) =>
  within(row)
    .getAllByRole('cell')
    .map(cell => cell.textContent);

describe('Diff', () => {
  it('shows lines with their numbers, and says what becomes of them', () => {
    render(<Diff text={version} />);
    const file = screen.getByRole('region', {
      name: 'deploy/prod/values.yaml',
    });
    expect(within(file).getByText('@@ -3,4 +3,4 @@ image:')).toBeVisible();
    const rows = within(file).getAllByRole('row').slice(2);
    expect(rows.map(cells)).toEqual([
      ['3', '3', ' ', 'image:'],
      ['4', '4', ' ', '  name: checkout'],
      ['5', '', '-removed', '  tag: 1.4.0'],
      ['', '5', '+added', '  tag: 1.5.0'],
      ['6', '6', ' ', 'replicas: 2'],
    ]);
    expect(screen.getByText('1 added, 1 removed')).toBeInTheDocument();
  });

  it('names files that come and go, and what is no text', () => {
    render(
      <Diff
        text={[
          '--- /dev/null',
          '+++ new.yaml',
          '@@ -0,0 +1 @@',
          '+a: 1',
          '--- old.yaml',
          '+++ /dev/null',
          '@@ -1 +0,0 @@',
          '-a: 1',
          'Binary files logo.png and logo.png differ',
          '',
        ].join('\n')}
      />,
    );
    for (const name of ['new.yaml (added)', 'old.yaml (removed)', 'logo.png']) {
      expect(screen.getByRole('button', { name })).toBeVisible();
    }
    expect(
      screen.getByText('Binary files logo.png and logo.png differ'),
    ).toBeVisible();
  });

  it('takes a line that looks like a header for what it is', () => {
    render(
      <Diff
        text={
          '--- a\n+++ a\n@@ -1,2 +1,2 @@\n--- x\n+++ y\n kept\n--- b\n+++ c\n'
        }
      />,
    );
    expect(screen.getByText('-- x')).toBeVisible();
    expect(screen.getByText('++ y')).toBeVisible();
    expect(screen.getByRole('button', { name: 'b → c' })).toBeVisible();
  });

  it('reads what Git writes', () => {
    render(
      <Diff
        text={[
          'diff --git a/x.yaml b/x.yaml',
          'index 1..2 100644',
          '--- a/x.yaml',
          '+++ b/x.yaml',
          '@@ -1 +1 @@',
          '-a',
          '+b',
          '\\ No newline at end of file',
          'diff --git a/y.png b/y.png',
          'Binary files a/y.png and b/y.png differ',
        ].join('\n')}
      />,
    );
    expect(screen.getByRole('button', { name: 'x.yaml' })).toBeVisible();
    expect(screen.getByRole('button', { name: 'y.png' })).toBeVisible();
    expect(screen.getByText(/No newline/)).toBeVisible();
    expect(screen.queryByText(/index 1/)).toBeNull();
  });

  it('shows what is long as far as one asks, by the keyboard too', async () => {
    const lines = Array.from({ length: 12 }, (_, n) => `+line ${n}`).join('\n');
    const many = ['one', 'two']
      .map(name => `--- /dev/null\n+++ ${name}\n@@ -0,0 +1,12 @@\n${lines}\n`)
      .join('');
    render(<Diff text={many} most={5} omitted={12_345} />);
    const user = userEvent.setup();
    expect(screen.getByText('line 4')).toBeVisible();
    expect(screen.queryByText('line 5')).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Show all 12 lines' }));
    expect(screen.getByText('line 11')).toBeVisible();

    const second = screen.getByRole('button', { name: 'two (added)' });
    expect(second).toHaveAttribute('aria-expanded', 'false');
    second.focus();
    await user.keyboard('{Enter}');
    expect(second).toHaveAttribute('aria-expanded', 'true');
    expect(screen.getAllByText('line 4')).toHaveLength(2);
    expect(screen.getByText(/12,345 more bytes/)).toBeVisible();
  });

  it('never draws more than a thousand lines, or fifty files, at once', async () => {
    const lines = Array.from({ length: 2_500 }, (_, n) => `+line ${n}`);
    const files = Array.from(
      { length: 60 },
      (_, n) =>
        `--- f${n}\n+++ f${n}\n@@ -0,0 +1,2500 @@\n${lines.join('\n')}\n`,
    );
    render(<Diff text={files.join('')} most={5} />);
    const user = userEvent.setup();
    expect(screen.queryByRole('button', { name: 'f50' })).toBeNull();
    await user.click(
      screen.getByRole('button', { name: 'Show 1000 of 2495 more lines' }),
    );
    expect(screen.getByText('line 1004')).toBeInTheDocument();
    expect(screen.queryByText('line 1005')).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Show 10 more' }));
    expect(screen.getByRole('button', { name: 'f59' })).toBeVisible();
  });

  it('copies a file of it', async () => {
    const user = userEvent.setup();
    const write = jest.spyOn(navigator.clipboard, 'writeText');
    render(<Diff text={`${version}--- b\n+++ b\n@@ -1 +1 @@\n-1\n+2\n`} />);
    await user.click(
      screen.getByRole('button', {
        name: 'Copy the diff of deploy/prod/values.yaml',
      }),
    );
    expect(write).toHaveBeenCalledWith(version);
  });

  it('says that nothing changes, and shows what is no diff as it is', () => {
    const { rerender } = render(<Diff text="" />);
    expect(screen.getByText('Nothing changes.')).toBeVisible();
    rerender(<Diff text={'what\n@@ broken\n'} />);
    expect(screen.getByText('what')).toBeVisible();
    expect(screen.getByText('@@ broken')).toBeVisible();
  });
});
