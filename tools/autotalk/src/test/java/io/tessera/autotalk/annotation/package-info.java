/** Tests of annotations and of the gaps that they leave. */
package io.tessera.autotalk.annotation;
