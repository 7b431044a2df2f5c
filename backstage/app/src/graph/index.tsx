import {
  coreExtensionData,
  createFrontendModule,
} from '@backstage/frontend-plugin-api';
import catalogGraphPlugin from '@backstage/plugin-catalog-graph/alpha';
import { Renewed } from '@fairlead/backstage-plugin';
import { Bounded } from './Bounded';

/** The graph keeps what it has fetched, and is drawn anew upon changes. */
const card = catalogGraphPlugin
  .getExtension('entity-card:catalog-graph/relations')
  .override({
    *factory(original) {
      const output = original();
      yield* output;
      yield coreExtensionData.reactElement(
        <Renewed>
          <Bounded>{output.get(coreExtensionData.reactElement)}</Bounded>
        </Renewed>,
      );
    },
  });

const page = catalogGraphPlugin.getExtension('page:catalog-graph').override({
  *factory(original) {
    const output = original();
    yield* output;
    yield coreExtensionData.reactElement(
      <Bounded>{output.get(coreExtensionData.reactElement)}</Bounded>,
    );
  },
});

export const graphModule = createFrontendModule({
  pluginId: 'catalog-graph',
  extensions: [card, page],
});
