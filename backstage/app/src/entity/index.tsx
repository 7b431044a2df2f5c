import {
  coreExtensionData,
  createFrontendModule,
} from '@backstage/frontend-plugin-api';
import catalogPlugin from '@backstage/plugin-catalog/alpha';
import { Later } from './Later';

/** What one comes to an entity's page for, which other cards do not hold up. */
const first = 'entity-card:catalog/about';

const overview = catalogPlugin
  .getExtension('entity-content:catalog/overview')
  .override({
    factory(original, { inputs }) {
      const cards = inputs.cards.map(card => {
        const element = card.get(coreExtensionData.reactElement);
        const shown =
          card.node.spec.id === first ? element : <Later>{element}</Later>;
        return [
          ...[...card].filter(
            data => data.id !== coreExtensionData.reactElement.id,
          ),
          coreExtensionData.reactElement(shown),
        ];
      });
      return original({ inputs: { ...inputs, cards } });
    },
  });

export const entityModule = createFrontendModule({
  pluginId: 'catalog',
  extensions: [overview],
});
