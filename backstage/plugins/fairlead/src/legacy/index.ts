/**
 * Fairlead for apps of Backstage's old front-end system.
 *
 * @packageDocumentation
 */
export * from './plugin';
export { fairleadApiRef } from '../client';
export { LiveCatalogProvider } from '../live';
