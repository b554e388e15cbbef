package io.tessera.system.space;

import io.tessera.system.Sanitized;

/** The same with the library built with sanitizers. */
@Sanitized
class SanitizedRelayTest extends RelayTest {
}
