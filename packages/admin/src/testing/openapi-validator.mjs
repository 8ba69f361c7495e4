// Checks one OpenAPI document against the schema of its version, and that its references lead somewhere. In a process of its own,
// because the validator is an ES module only. Gets the document and answers `{ valid, errors }`.
import { Validator } from '@seriousme/openapi-schema-validator';

process.once('message', async (document) => {
  process.send(await new Validator().validate(document), () => process.disconnect());
});
