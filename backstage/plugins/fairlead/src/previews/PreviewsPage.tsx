import { Container, Flex } from '@backstage/ui';
import { Connected } from '../client';
import { EmptyHint } from './EmptyHint';
import { Figures } from './Figures';
import { Filters, useFilter } from './Filters';
import { PreviewList } from './PreviewList';

const Previews = () => {
  const [filter, change] = useFilter();
  const { gone, ...narrow } = filter;
  const narrowed = Object.values(narrow).some(Boolean);
  return (
    <Flex direction="column" gap="6">
      <PreviewList
        filter={filter}
        empty={
          narrowed ? (
            'No previews are as you look for them.'
          ) : (
            <EmptyHint service="NAME" />
          )
        }
      >
        <Filters filter={filter} onChange={change} />
      </PreviewList>
      <Figures service={filter.service} />
    </Flex>
  );
};

/** All previews that one may see, what they take, and what is left of others. */
export const PreviewsPage = () => (
  <Connected>
    <Container py="4">
      <Previews />
    </Container>
  </Connected>
);
