/** `README.txt` of a bundle. */
export const readme = `Evidence bundle

This archive contains audit events about one subject, with proofs that they are in the audit chain of a tenant.

Verify it on any machine with Node 20 or newer; the service that wrote it is not needed:

    npx svc-verify --key public-key.pem BUNDLE.tgz

public-key.pem is the public key of the installation. Get it from a source that you trust, such as its operators, and not from
this archive. With --anchors FILE the events are also compared with checkpoints that were kept outside of the installation.

manifest.json            what the archive contains, who asked for it, the SHA-256 of every other file, and the signature
chain/events.ndjson      the events: their exact text, its SHA-256, and the path to the root of the Merkle tree (RFC 6962)
chain/checkpoints.json   the signed roots to which these paths lead, and the proof that the later one only added events
chain/verification.json  what the installation found when it verified this part of its chain
record.json              the job or run, and the jobs that the events name, as far as their records are kept
decisions.json           decisions of policy on these jobs
approvals.json           approvals of these jobs: who resolved them, when, and for which input
data.json                SHA-256 of inputs, outputs and artifacts
policies.json            policy snapshots that decided, and policy documents by their SHA-256
workflow.json            the definition of the workflow, for runs
content/                 documents that data.json names, if their content was asked for
`;
