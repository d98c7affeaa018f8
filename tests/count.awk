# Adds up the result lines of `cargo test -- --show-output`: prints passed, failed, skipped.
# A test that found no peer says so in a line that begins with "skipped:"; it did not pass, it was skipped.
/^---- .* stdout ----$/ { block = 1; counted = 0 }
/^(test result|running|failures:|     Running|   Doc-tests)/ { block = 0 }
block && !counted && /^skipped:/ { missed += 1; counted = 1 }
/^test result: / {
  for (field = 1; field < NF; field += 1) {
    if ($(field + 1) ~ /^passed/) passed += $field
    if ($(field + 1) ~ /^failed/) failed += $field
    if ($(field + 1) ~ /^ignored/) ignored += $field
  }
}
END { print passed - missed + 0, failed + 0, ignored + missed + 0 }
