import { stringifyEntityRef } from '@backstage/catalog-model';
import { useEntity } from '@backstage/plugin-catalog-react';
import { Switch } from '@backstage/ui';
import { useState } from 'react';
import { Connected } from '../client';
import { EmptyHint } from './EmptyHint';
import { PreviewList } from './PreviewList';

const Tab = () => {
  const { entity } = useEntity();
  const service = stringifyEntityRef(entity);
  const [gone, setGone] = useState(false);
  return (
    <PreviewList
      filter={{ service, ...(gone && { gone }) }}
      service={service}
      empty={<EmptyHint service={entity.metadata.name} />}
    >
      <Switch
        label="Show those that are gone"
        isSelected={gone}
        onChange={setGone}
      />
    </PreviewList>
  );
};

/** The tab of a component that shows its previews. */
export const PreviewsTab = () => (
  <Connected>
    <Tab />
  </Connected>
);
