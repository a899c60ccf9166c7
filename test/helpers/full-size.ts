/** Whether tests of amounts (races, stories, customers) take the full ones, by `npm run test:full`; otherwise a few of each, for CI. */
export const isFullSize = process.env['NIGHTSCREEN_TEST_SIZE'] === 'full';
