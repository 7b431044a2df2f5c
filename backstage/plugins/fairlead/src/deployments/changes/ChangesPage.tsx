import { Container } from '@backstage/ui';
import { Connected } from '../../client';
import { Proposals } from '../proposals/Proposals';

/** All changes that are proposed, their figures, and fleets. */
export const ChangesPage = () => (
  <Connected>
    <Container py="4">
      <Proposals filters={{}} />
    </Container>
  </Connected>
);
