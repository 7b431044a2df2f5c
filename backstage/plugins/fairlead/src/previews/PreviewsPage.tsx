import { EntityRefLink } from '@backstage/plugin-catalog-react';
import {
  Cell,
  CellText,
  Column,
  Container,
  Row,
  TableBody,
  TableHeader,
  TableRoot,
} from '@backstage/ui';
import { Connected, useLiveQuery } from '../client';
import { Answer, Countdown } from '../parts';
import { PreviewChangesDocument, PreviewsDocument } from './previews.generated';

const changes = [{ query: PreviewChangesDocument }];

const Previews = () => {
  const previews = useLiveQuery({
    query: PreviewsDocument,
    variables: {},
    changes,
  });
  return (
    <Answer
      of={previews}
      empty={{
        when: d => d.previewEnvironments?.items.length === 0,
        text: 'No previews are running.',
      }}
    >
      {data => (
        <TableRoot aria-label="Previews">
          <TableHeader>
            <Column isRowHeader>Service</Column>
            <Column>Revision</Column>
            <Column>Phase</Column>
            <Column>Time left</Column>
          </TableHeader>
          <TableBody>
            {data.previewEnvironments?.items.map(p => (
              <Row key={p.id} id={p.id}>
                <Cell>
                  <EntityRefLink entityRef={p.service} />
                </Cell>
                <CellText title={p.revision} />
                <CellText title={p.phase} />
                <Cell>
                  <Countdown at={p.expiresAt} />
                </Cell>
              </Row>
            ))}
          </TableBody>
        </TableRoot>
      )}
    </Answer>
  );
};

/** All previews that one may see. */
export const PreviewsPage = () => (
  <Connected>
    <Container py="4">
      <Previews />
    </Container>
  </Connected>
);
