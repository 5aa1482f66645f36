"""Runs every check of scim2-tester against a gateway, and prints the checks that fail.

Arguments: the base URL of SCIM and the token. Exit code 1 when a check failed or too few were made.
"""

import sys

from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import Status, check_server

# A server that does not describe its resources is not checked beyond that, which is no failure for the tester.
MIN_SUCCESSES = 60


def main(base_url: str, token: str) -> int:
    http = Client(base_url=base_url, headers={"Authorization": f"Bearer {token}"}, timeout=30)
    results = check_server(SyncSCIMClient(http))
    counts = {status: sum(1 for result in results if result.status is status) for status in Status}
    accepted = {Status.SUCCESS, Status.COMPLIANT, Status.ACCEPTABLE}
    failed = [result for result in results if result.status not in accepted]
    for result in failed:
        print(f"{result.status.name} {result.resource_type or ''} {result.title}: {result.reason}")
    print(", ".join(f"{status.name} {count}" for status, count in counts.items() if count))
    return 1 if failed or counts[Status.SUCCESS] < MIN_SUCCESSES else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
