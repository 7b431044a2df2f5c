/**
 * What agents know, run and change of your services, in Backstage.
 *
 * @packageDocumentation
 */
export { default } from './plugin';
export { fairleadApiRef } from './client';
