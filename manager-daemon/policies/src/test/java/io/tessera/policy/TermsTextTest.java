package io.tessera.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages about a tenant between manager and executor keep their contents. */
class TermsTextTest {
    @Test
    void termsComeBackAsTheyWere() {
        TenantTerms terms = new TenantTerms(7, -3, TenantClass.INTERACTIVE, 0.125, 0.00001, 200_000_000L, true);
        assertEquals(terms, TermsText.parse(TermsText.of(terms)));
        assertEquals(TenantTerms.DEFAULT, TermsText.parse(TermsText.of(TenantTerms.DEFAULT)));
    }

    @Test
    void replayableIsFalseUnlessItIsNamed() {
        assertEquals(TenantTerms.DEFAULT.withReplayable(true), TermsText.parse("replayable=true"));
        assertEquals(TenantTerms.DEFAULT, TermsText.parse("replayable=false"));
        assertEquals(TenantTerms.DEFAULT,
                TermsText.parse("weight=1 priority=0 class=batch hardCap=1.0 softCap=1.0 targetNs=0"));
    }

    @Test
    void whatIsNotNamedIsAsForAnyTenant() {
        assertEquals(TenantTerms.DEFAULT.withWeight(3), TermsText.parse("weight=3"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "weight", "weight=0", "weight=a", "height=3", "class=idle", "hardCap=2", "hardCap=NaN", "weight=1=2",
            "replayable=yes", "replayable=", "replayable=TRUE",
            "weight=1  priority=2"})
    void whatIsNoTermsIsRefused(String text) {
        assertThrows(IllegalArgumentException.class, () -> TermsText.parse(text));
    }
}
