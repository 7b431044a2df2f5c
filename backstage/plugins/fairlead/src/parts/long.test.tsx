import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { renderInTestApp } from '@backstage/frontend-test-utils';
import { entityRouteRef } from '@backstage/plugin-catalog-react';
import { EntityLink } from './EntityLink';
import { Long } from './Long';
import { useSome } from './More';

describe('Long', () => {
  it('shows what is short as it is', () => {
    render(<Long>{'x'.repeat(700)}</Long>);
    expect(screen.getByText('x'.repeat(700))).toBeVisible();
    expect(screen.queryByRole('button')).toBeNull();
  });

  it('shows all of what is long when it is wanted, and no half of an emoji', async () => {
    const text = `${'x'.repeat(499)}🚀${'y'.repeat(4_000)}`;
    const { container } = render(<Long>{text}</Long>);
    const user = userEvent.setup();
    expect(container).toHaveTextContent(/^x{499}… Show 4,001 more characters$/);
    await user.click(screen.getByRole('button', { expanded: false }));
    expect(screen.getByText(text, { exact: false })).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Show less' }));
    expect(screen.queryByText(text, { exact: false })).toBeNull();
  });
});

const Numbers = ({ to }: { to: number }) => {
  const [some, more] = useSome(
    Array.from({ length: to }, (_, n) => n),
    10,
  );
  return (
    <>
      <output>{some.length}</output>
      {more}
    </>
  );
};

describe('useSome', () => {
  it('shows so many at a time until none are left', async () => {
    render(<Numbers to={25} />);
    const user = userEvent.setup();
    expect(screen.getByRole('status')).toHaveTextContent(/^10$/);
    await user.click(
      screen.getByRole('button', { name: 'Show 10 of 15 more' }),
    );
    expect(screen.getByRole('status')).toHaveTextContent(/^20$/);
    await user.click(screen.getByRole('button', { name: 'Show 5 more' }));
    expect(screen.getByRole('status')).toHaveTextContent(/^25$/);
    expect(screen.queryByRole('button')).toBeNull();
  });
});

describe('EntityLink', () => {
  it('leads to what is a reference, and leaves the rest as it is', async () => {
    renderInTestApp(
      <>
        <EntityLink of="alice" kind="user" />
        <EntityLink of="my team" />
        <EntityLink of="" />
      </>,
      {
        mountedRoutes: { '/catalog/:namespace/:kind/:name': entityRouteRef },
      },
    );
    expect(await screen.findByRole('link', { name: 'alice' })).toHaveAttribute(
      'href',
      '/catalog/default/user/alice',
    );
    expect(screen.getByText('my team')).toBeVisible();
    expect(screen.getAllByRole('link')).toHaveLength(1);
  });
});
