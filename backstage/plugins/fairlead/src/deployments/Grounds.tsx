import { Link } from '@backstage/ui';
import { EntityLink } from '../parts';
import { useAgentHref } from '../agents/links';
import { Fact, Items, Linked } from './Facts';

const Agent = ({ name }: { name: string }) => (
  <>
    , by the agent <Link href={useAgentHref()(name)}>{name}</Link>
  </>
);

/** Who began something, by which agent, with the ways to their pages. */
export const By = (props: { person: string; agent: string | null }) => (
  <>
    <EntityLink of={props.person} />
    {props.agent && <Agent name={props.agent} />}
  </>
);

/** Why somebody began something, and what shows that it is good. */
export const Grounds = (props: {
  of: { reason: string | null; evidence: string[] };
}) => {
  const { reason, evidence } = props.of;
  return (
    <>
      <Fact name="Why">{reason && <Linked text={reason} />}</Fact>
      <Fact name="Evidence">
        {evidence.length > 0 && (
          <Items label="Evidence">
            {evidence.map(e => (
              <li key={e}>
                <Linked text={e} />
              </li>
            ))}
          </Items>
        )}
      </Fact>
    </>
  );
};
