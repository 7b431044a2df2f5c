import {
  Cell,
  CellText,
  Column,
  Flex,
  Row,
  TableBody,
  TableHeader,
  TableRoot,
  Text,
} from '@backstage/ui';
import { useLiveQuery } from '../client';
import { EntityLink, Scrolled, Answer, Pager, usePaging } from '../parts';
import { PreviewFiguresDocument } from './figures.generated';
import { bytes, seconds } from './measures';

/** What each preview takes now. */
export const Resources = ({ service }: { service?: string }) => {
  const paging = usePaging(service);
  const figures = useLiveQuery({
    query: PreviewFiguresDocument,
    variables: { service, first: 50, after: paging.after },
    every: 10_000,
  });
  const page = figures.data?.previewResources;
  const items = page?.items ?? [];
  const known = items.flatMap(i => i.resources ?? []);
  const sum = (of: (r: (typeof known)[number]) => number) =>
    known.reduce((total, r) => total + of(r), 0);
  return (
    <Answer
      of={figures}
      empty={{
        when: () => !items.length && !paging.newer,
        text: 'No previews are there.',
      }}
    >
      {() => (
        <Flex direction="column" gap="3">
          <Text>
            {items.length === 1
              ? '1 preview takes '
              : `${items.length} previews take `}
            {`${bytes(sum(r => r.memoryBytes))} of memory and ${bytes(
              sum(r => r.diskBytes),
            )} of disk`}
            {known.length < items.length &&
              `; of ${items.length - known.length} that is not known`}
            .
          </Text>
          <Scrolled>
            <TableRoot aria-label="What previews take">
              <TableHeader>
                <Column isRowHeader>Preview</Column>
                <Column>Asked for by</Column>
                <Column>Memory</Column>
                <Column>Disk</Column>
                <Column>Processor</Column>
                <Column>Processes</Column>
              </TableHeader>
              <TableBody>
                {items.map(({ preview: p, resources: r }) => (
                  <Row key={p.id} id={p.id}>
                    <Cell>
                      <EntityLink of={p.service} />
                      <Text as="div" variant="body-small" color="secondary">
                        {p.revision}, {p.phase}
                      </Text>
                    </Cell>
                    <Cell>
                      <EntityLink of={p.person} kind="user" />
                      {p.agent && (
                        <Text as="div" variant="body-small" color="secondary">
                          {p.agent}
                        </Text>
                      )}
                    </Cell>
                    <CellText title={r ? bytes(r.memoryBytes) : 'not known'} />
                    <CellText title={r ? bytes(r.diskBytes) : 'not known'} />
                    <CellText title={r ? seconds(r.cpuSeconds) : 'not known'} />
                    <CellText title={r ? String(r.processes) : 'not known'} />
                  </Row>
                ))}
              </TableBody>
            </TableRoot>
          </Scrolled>
          <Pager of={paging} next={page?.nextCursor} what="previews" />
        </Flex>
      )}
    </Answer>
  );
};
