import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { CopyButton } from './CopyButton';
import { distance, left, spoken } from './When';

const now = new Date('2026-01-01T12:00:00Z');
const at = (seconds: number) => new Date(now.getTime() + seconds * 1000);

describe('Moments', () => {
  it.each([
    [-3_700, '1 hour ago'],
    [-61, '1 minute ago'],
    [-1, '1 second ago'],
    [0, 'now'],
    [3, 'now'], // a server's clock is a little ahead
    [90, 'in 1 minute'],
    [200_000, 'in 2 days'],
  ])('are so many seconds away: %d', (seconds, text) => {
    expect(distance(at(seconds), now)).toBe(text);
  });

  it.each([
    [3_849, '1:04:09', '1 hour 4 minutes'],
    [125, '2:05', '2 minutes'],
    [59, '0:59', 'less than a minute'],
    [0, 'over', 'over'],
    [-5, 'over', 'over'],
  ])('are counted down to from %d seconds', (seconds, read, heard) => {
    expect(left(at(seconds), now)).toBe(read);
    expect(spoken(at(seconds), now)).toBe(heard);
  });
});

describe('CopyButton', () => {
  it('copies, and says so', async () => {
    const user = userEvent.setup();
    const written = jest.spyOn(navigator.clipboard, 'writeText');
    written.mockResolvedValue();
    render(<CopyButton text="make test" what="the command" />);
    await user.click(screen.getByRole('button', { name: 'Copy the command' }));
    expect(await screen.findByText('Copied the command')).toBeInTheDocument();
    expect(written).toHaveBeenCalledWith('make test');
  });

  it('says that it cannot', async () => {
    const user = userEvent.setup();
    jest
      .spyOn(navigator.clipboard, 'writeText')
      .mockRejectedValue(new Error('not allowed'));
    render(<CopyButton text="make test" what="the command" />);
    await user.click(screen.getByRole('button', { name: 'Copy the command' }));
    expect(
      await screen.findByText('Could not copy the command'),
    ).toBeInTheDocument();
  });
});
