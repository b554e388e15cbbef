package io.tessera.system.memory;

import io.tessera.system.Sanitized;

/** The tests of the superclass, with the library built with sanitizers. */
@Sanitized
class SanitizedSwapPathsTest extends SwapPathsTest {
}
