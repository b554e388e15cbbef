package io.tessera.system;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * A class of tests whose programs load the preload library that {@code tests/run} built with sanitizers. A report of a sanitizer ends
 * the program, so its test fails.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("sanitized")
@EnabledIfSystemProperty(named = "tessera.sanitized", matches = ".+")
public @interface Sanitized {
}
