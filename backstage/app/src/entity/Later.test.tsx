import { render, screen } from '@testing-library/react';
import { Later } from './Later';

describe('Later', () => {
  it('shows what is inside it after the rest of the page', async () => {
    render(
      <>
        <p>first</p>
        <Later>
          <p>second</p>
        </Later>
      </>,
    );
    expect(screen.getByText('first')).toBeInTheDocument();
    expect(screen.queryByText('second')).not.toBeInTheDocument();
    expect(await screen.findByText('second')).toBeInTheDocument();
  });

  it('shows nothing any more once it is gone', async () => {
    const shown = jest.fn(() => null);
    const Inside = () => shown();
    const { unmount } = render(
      <Later>
        <Inside />
      </Later>,
    );
    unmount();
    await new Promise(done => setTimeout(done, 50));
    expect(shown).not.toHaveBeenCalled();
  });
});
