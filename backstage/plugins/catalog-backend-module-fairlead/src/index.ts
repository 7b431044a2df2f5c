/**
 * Feeds a Backstage catalog with the entities of Fairlead.
 *
 * @packageDocumentation
 */
export { catalogModuleFairlead as default } from './module';
