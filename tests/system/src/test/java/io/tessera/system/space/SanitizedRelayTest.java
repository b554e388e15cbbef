package io.tessera.system.space;

import io.tessera.system.Sanitized;

/** The tests of the superclass, with the library built with sanitizers. */
@Sanitized
class SanitizedRelayTest extends RelayTest {
}
