"""Code generated from libs/contract/src/proto/bus.proto by `npm run proto`."""
