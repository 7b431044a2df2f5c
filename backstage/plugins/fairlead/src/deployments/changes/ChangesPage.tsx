import { useAppSearchParams } from '@backstage/frontend-plugin-api';
import {
  Container,
  Flex,
  ToggleButton,
  ToggleButtonGroup,
} from '@backstage/ui';
import { Connected } from '../../client';
import { AllProposals } from './AllProposals';
import { Figures } from './Figures';
import { Fleets } from './Fleets';

const views = {
  proposals: { title: 'Proposals', View: AllProposals },
  figures: { title: 'Figures', View: Figures },
  fleets: { title: 'Fleets', View: Fleets },
};

type Name = keyof typeof views;

const Views = () => {
  const [params, setParams] = useAppSearchParams();
  const asked = params.get('view');
  const name: Name = asked && asked in views ? (asked as Name) : 'proposals';
  const { View } = views[name];
  return (
    <Flex direction="column" gap="4">
      <ToggleButtonGroup
        aria-label="What to show"
        selectionMode="single"
        disallowEmptySelection
        selectedKeys={[name]}
        onSelectionChange={keys => setParams({ view: String([...keys][0]) })}
      >
        {Object.entries(views).map(([id, { title }]) => (
          <ToggleButton key={id} id={id}>
            {title}
          </ToggleButton>
        ))}
      </ToggleButtonGroup>
      <View />
    </Flex>
  );
};

/** All changes that one may see: proposals, their figures, and fleets. */
export const ChangesPage = () => (
  <Connected>
    <Container py="4">
      <Views />
    </Container>
  </Connected>
);
