/** Name of the migrated Postgres database that those of the tests are cloned from. */
export const templateName = 'template_migrated';
