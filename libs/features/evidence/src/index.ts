/** Evidence bundles: signed archives that prove what the audit chain says about a job, run, agent or session. */
export { createBundle, type EvidenceDeps } from './create-bundle';
export { evidenceRoutes, type EvidenceContext } from './routes';
