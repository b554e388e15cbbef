package io.tessera.system.memory;

import io.tessera.system.Sanitized;

/** The same with the library built with sanitizers. */
@Sanitized
class SanitizedMemoryTest extends MemoryTest {
}
