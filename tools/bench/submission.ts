/** Topic of all bench jobs: allowed by the shipped policy and served by the shipped pools. */
export const benchTopic = 'job.demo.bench';

/** A submission of about 400 bytes. */
export const submissionBody = () => ({
  topic: benchTopic,
  prompt: 'Which berth is free tomorrow morning for a ship of 180 metres, and from what hour?',
  context: { harbour: 'north', ship: { name: 'Marguerite', metres: 180, draught: 7.5 }, asked_by: 'pilot station' },
  labels: { team: 'harbour', shift: 'early' },
  tags: ['berth', 'planning'],
  priority: 'interactive',
  max_output_tokens: 512,
});
