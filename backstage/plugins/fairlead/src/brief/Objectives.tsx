import { Text } from '@backstage/ui';
import {
  RiCheckboxCircleLine,
  RiCloseCircleLine,
  RiFireLine,
  RiQuestionLine,
} from '@remixicon/react';
import type { ReactElement } from 'react';
import { useLiveQuery } from '../client';
import { ObjectivesDocument, type ObjectivesQuery } from './brief.generated';
import css from './brief.module.css';
import { Few, Row, type Fact } from './Facts';

type State = NonNullable<ObjectivesQuery['deploymentHealth']>['slo'][number];

const looks: Record<
  string,
  { icon: ReactElement; color: 'success' | 'warning' | 'danger' | 'secondary' }
> = {
  met: { icon: <RiCheckboxCircleLine aria-hidden />, color: 'success' },
  burning: { icon: <RiFireLine aria-hidden />, color: 'warning' },
  missed: { icon: <RiCloseCircleLine aria-hidden />, color: 'danger' },
  unknown: { icon: <RiQuestionLine aria-hidden />, color: 'secondary' },
};

const percent = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** How an objective stands, in words, with what is left of its budget. */
const Standing = ({ state }: { state: State }) => {
  const look = looks[state.state] ?? looks.unknown;
  const left = state.budgetLeft;
  return (
    <>
      <Text
        variant="body-small"
        color={look.color}
        className={css.state}
        title={state.why ?? undefined}
      >
        {look.icon}
        {state.state}
      </Text>
      {typeof left === 'number' && (
        <Text variant="body-small" className={css.state}>
          <meter
            className={css.budget}
            min={0}
            max={100}
            low={10}
            high={30}
            optimum={100}
            value={Math.max(0, left)}
            aria-label="Error budget left"
          />
          {percent.format(left)}% of the budget left
        </Text>
      )}
    </>
  );
};

/** The environment whose figures count: production, or what is protected. */
export const measured = (environments: Fact[]) =>
  environments.find(e => /^prod/i.test(e.name ?? '')) ??
  environments.find(e => e.protected) ??
  environments[environments.length - 1];

/** The service's objectives, and how they stand where that is measured. */
export const Objectives = (props: {
  service: string;
  environments: Fact[];
  slos: Fact[];
}) => {
  const { service, slos } = props;
  const environment = measured(props.environments)?.name;
  const { data } = useLiveQuery({
    query: ObjectivesDocument,
    variables: { service, environment: environment ?? '' },
    every: 30_000,
    pause: !environment || !slos.length,
  });
  const states = data?.deploymentHealth?.slo ?? [];
  return (
    <Few of={slos} what="objectives">
      {fact => {
        const state = states.find(s => s.name === fact.name);
        return (
          <Row key={`${fact.name} ${fact.value}`} label="Objective" fact={fact}>
            <Text>{fact.value}</Text>
            {state && <Standing state={state} />}
          </Row>
        );
      }}
    </Few>
  );
};
