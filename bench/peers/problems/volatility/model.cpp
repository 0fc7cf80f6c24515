#include <TMB.hpp>
template <class Type> Type objective_function<Type>::operator()() {
    DATA_VECTOR(y);
    PARAMETER(mu); PARAMETER(logit_phi); PARAMETER(log_sigma); PARAMETER_VECTOR(h);
    Type phi = 2 * invlogit(logit_phi) - 1, sigma = exp(log_sigma);
    Type log_p = dnorm(mu, Type(0), Type(5), true) + dnorm(sigma, Type(0), Type(1), true) + log_sigma + log(1 - phi * phi);
    log_p += dnorm(h(0), mu, sigma / sqrt(1 - phi * phi), true) + dnorm(y(0), Type(0), exp(h(0) / 2), true);
    for (int t = 1; t < y.size(); t++)
        log_p += dnorm(h(t), mu + phi * (h(t - 1) - mu), sigma, true) + dnorm(y(t), Type(0), exp(h(t) / 2), true);
    ADREPORT(mu); ADREPORT(phi); ADREPORT(sigma);
    return -log_p;
}
